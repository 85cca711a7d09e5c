import type { FileAnswer } from '../console-page.ts';

type Value = string | number;

/** RFC 4180. A text that a spreadsheet would run as a formula gets an apostrophe. */
export function csvFile(
  saveAs: string,
  columns: readonly string[],
  rows: readonly (readonly Value[])[],
): FileAnswer {
  const lines = [columns, ...rows].map((row) => row.map(field).join(','));
  return { content: `${lines.join('\r\n')}\r\n`, type: 'text/csv; charset=utf-8', saveAs };
}

function field(value: Value): string {
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
