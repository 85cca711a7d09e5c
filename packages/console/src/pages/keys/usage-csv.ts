import type { UsageRow } from './join-usage.ts';

const COLUMNS = ['day', 'key', 'kind', 'route', 'method', 'requests', 'errors'] as const;
/** What spreadsheets take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** RFC 4180, with a line of names. What a spreadsheet would compute is text. */
export function usageCsv(usage: readonly UsageRow[]): string {
  const lines = usage.map(({ day, keyId, kind, route, method, requests, errors }) =>
    [day, keyId, kind, route, method, requests, errors].map(cell).join(','),
  );
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`;
}

function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
