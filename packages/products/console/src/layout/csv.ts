/** RFC 4180, with a line of names first. A text that a spreadsheet would compute gets an apostrophe. */
export function csvText(columns: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [columns, ...rows].map((cells) => `${cells.map(cell).join(',')}\r\n`).join('');
}

/** Starts of formulas. Spreadsheets skip spaces before them. */
const FORMULA = /^\s*[=+\-@\t\r]/;
const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
