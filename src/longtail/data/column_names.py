"""The usual names of columns (and of JSON keys) in English, German, French and Spanish."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

ID_NAMES = (
    *("id", "uid", "doc_id", "docid", "document_id", "uuid", "identifier", "doc"),
    *("kennung", "dokument_id", "identifiant", "identificador"),
)
"""The names of a document's id; the first of them that is there counts."""

TITLE_NAMES = (
    *("title", "headline", "heading", "document_title", "doc_title"),
    *("titel", "uberschrift", "ueberschrift", "titre", "intitule", "titulo", "encabezado"),
)

TEXT_NAMES = (
    *("abstract", "summary", "description"),
    *("zusammenfassung", "kurzfassung", "beschreibung"),
    *("resume", "sommaire", "resumen", "descripcion"),
    *("text", "content", "contents", "body", "full_text", "fulltext", "body_text", "document_text"),
    *("inhalt", "volltext", "textkorper", "textkoerper"),
    *("texte", "contenu", "corps", "texte_integral"),
    *("texto", "contenido", "cuerpo", "texto_completo"),
)
"""The names of a text, in the order in which several of them are joined: the short ones first."""

OTHER_TEXT_NAMES = (
    *("document", "sentence", "message", "comment", "review", "post", "article", "question"),
    *("dokument", "satz", "nachricht", "kommentar", "artikel", "frage"),
    *("phrase", "commentaire", "oracion", "mensaje", "comentario", "articulo", "pregunta"),
)
"""Names that mean the text where there is none of the usual ones."""

LABEL_NAMES = (
    *(
        "labels",
        "label",
        "tags",
        "tag",
        "subjects",
        "subject",
        "categories",
        "category",
        "keywords",
        "keyword",
    ),
    *("subject_uris", "label_ids", "tag_list"),
    *("schlagworter", "schlagwoerter", "schlagworte", "schlagwort", "kategorien", "kategorie"),
    *("etiquettes", "etiquette", "categorie", "mots_cles", "mot_cle", "sujets", "sujet"),
    *("etiquetas", "etiqueta", "categorias", "categoria", "palabras_clave", "materias", "materia"),
)

OTHER_LABEL_NAMES = (
    *("topics", "topic", "classes", "class", "descriptors", "genres", "genre", "targets", "target"),
    *("themen", "thema", "klassen", "klasse", "deskriptoren"),
    *("themes", "theme", "descripteurs", "temas", "tema", "clases", "clase", "descriptores"),
)
"""Names that mean the labels where there is none of the usual ones."""


_LONGEST = 100
"""Characters of a name that could be a usual one; its normal form takes time that grows with the square."""


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """The name in small letters without accents, with underscores for spaces and hyphens."""
    if len(name) > _LONGEST:
        return name
    letters = unicodedata.normalize("NFKD", name.strip().lower())
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return "_".join(bare.replace("-", " ").replace("_", " ").split())
