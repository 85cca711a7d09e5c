/**
 * Rows of a CSV text (RFC 4180: quoted fields may hold commas, doubled quotes and line breaks; any line ending) as objects by
 * the header's names, which are lower-cased. Missing fields are empty, surplus ones dropped, blank lines skipped.
 */
export function* parseCsv(text: string): Generator<Readonly<Record<string, string>>> {
  let header: readonly string[] | null = null;
  for (const fields of records(text)) {
    if (fields.length === 1 && fields[0] === '') continue;
    if (header === null) header = fields.map((name) => name.trim().toLowerCase());
    else yield Object.fromEntries(header.map((name, index) => [name, fields[index] ?? '']));
  }
}

/** One field and what ends it: a comma, a line break, or the text. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n|\n|\r|$)/y;

function* records(text: string): Generator<string[]> {
  let fields: string[] = [];
  FIELD.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
  while (FIELD.lastIndex <= text.length) {
    const at = FIELD.lastIndex;
    const match = FIELD.exec(text);
    if (match === null) {
      // Text after a closing quote, or a quote that is never closed: the rest of the line is one field as it stands.
      const end = text.slice(at).search(/[\r\n]|$/) + at;
      fields.push(text.slice(at, end));
      FIELD.lastIndex = end + 1;
    } else fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match?.[3] === ',') continue;
    yield fields;
    fields = [];
    if (match?.[3] === '') return;
  }
}
