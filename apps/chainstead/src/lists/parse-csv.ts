/** RFC 4180, by lower-case header. Missing fields are empty, surplus ones dropped. */
export function* parseCsv(text: string): Generator<Readonly<Record<string, string>>> {
  let header: readonly string[] | null = null;
  for (const fields of records(text)) {
    if (fields.length === 1 && fields[0] === '') continue;
    if (header === null) header = fields.map((name) => name.trim().toLowerCase());
    else yield Object.fromEntries(header.map((name, index) => [name, fields[index] ?? '']));
  }
}

/** A field and its end. An unclosed quote is a character. */
const FIELD = /(?:"([^"]*(?:""[^"]*)*)"|([^,\r\n]*))(,|\r\n|\n|\r|$)/y;

function* records(text: string): Generator<string[]> {
  let fields: string[] = [];
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  while (at <= text.length) {
    FIELD.lastIndex = at;
    const match = FIELD.exec(text);
    if (match === null) return;
    at = FIELD.lastIndex;
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === ',') continue;
    yield fields;
    fields = [];
    if (match[3] === '') return;
  }
}
