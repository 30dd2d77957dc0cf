// Numbers as people read them.

const WHOLE = new Intl.NumberFormat("en");

/** 12345 as 12,345. */
export function count(number) {
  return WHOLE.format(number);
}

/** "1 label", "2 labels". */
export function plural(number, noun, many = `${noun}s`) {
  return `${count(number)} ${number === 1 ? noun : many}`;
}

/** A probability as per cent with one decimal; what is no probability, as the number itself. */
export function score(value) {
  if (value === null || value === undefined) return "–";
  if (value < 0 || value > 1) return value.toFixed(2);
  const percent = 100 * value;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return `${percent.toFixed(1)} %`;
}

/** A number with a sign, for contributions. */
export function signed(value) {
  const digits = Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 0.1 ? 2 : 3;
  const text = Math.abs(value).toFixed(digits);
  return value < 0 ? `−${text}` : `+${text}`;
}

/** Seconds as "1.5 s", "12 s", "3 min 5 s", "1 h 4 min". */
export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (seconds < 9.95) return `${Math.max(0, seconds).toFixed(1)} s`;
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** A label's name; labels without a text have only their id. */
export function labelName(label) {
  return label.text || label.id;
}
