/** An example as pages show it: the request for curl, and a response that is cut to a few lines. */

/** @property path with the query */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** The demo, which accepts any key. */
const BASE_URL = 'http://127.0.0.1:8080';
/** Characters of a line, as many as the site shows. */
const WIDTH = 76;
/** The longest word that is shown in full: an address is, a hash is not. */
const WORD_MAX = 46;
const SENTENCE_MAX = 100;
const TEXT_KEPT = 18;
const HEX_END = 8;

/** @param response JSON, or nothing */
export function renderExample({ method, path, body }: SentRequest, response: string): string {
  const verb = method === 'GET' ? '' : `-X ${method} `;
  // The path of the gateway has the key.
  const key = path.endsWith('/any-key') ? '' : " \\\n  -H 'x-api-key: any-key'";
  const sent =
    body === undefined ? '' : ` \\\n  -H 'content-type: application/json' \\\n  -d '${renderBody(body)}'`;
  const request = `\`\`\`bash\ncurl ${verb}'${BASE_URL}${path}'${key}${sent}\n\`\`\`\n`;
  if (response === '') return `${request}\nThe response is empty.\n`;
  return `${request}\n\`\`\`json\n${renderJson(JSON.parse(response))}\n\`\`\`\n`;
}

/** The whole body, since it is sent. */
const renderBody = (body: unknown): string => JSON.stringify(body, null, 1).replaceAll(/\n */g, ' ');

/**
 * Lists are cut to the first item, long texts to their beginning, each with `…`.
 *
 * @param name of the member, with a colon
 */
export function renderJson(value: unknown, indent = '', name = ''): string {
  if (typeof value === 'string') return name + JSON.stringify(shorten(value));
  if (typeof value !== 'object' || value === null) return name + JSON.stringify(value);
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const members = Array.isArray(value)
    ? value.slice(0, 1).map((first: unknown) => renderJson(first, inner) + (value.length > 1 ? ', …' : ''))
    : Object.entries(value).map(([key, one]) => renderJson(one, inner, `${JSON.stringify(key)}: `));
  if (members.length === 0) return `${name}${open}${close}`;
  const line = `${name}${open} ${members.join(', ')} ${close}`;
  if (!line.includes('\n') && indent.length + line.length < WIDTH) return line;
  return `${name}${open}\n${inner}${fillLines(members, WIDTH - inner.length).join(`,\n${inner}`)}\n${indent}${close}`;
}

/** Hashes are cut in the middle: padded addresses differ only at their end. */
function shorten(text: string): string {
  if (text.length <= (/^[^[{].* /.test(text) ? SENTENCE_MAX : WORD_MAX)) return text;
  if (!/^0x[0-9a-f]+$/.test(text)) return `${text.slice(0, TEXT_KEPT)}…`;
  return `${text.slice(0, TEXT_KEPT - HEX_END)}…${text.slice(-HEX_END)}`;
}

/** Several short members share a line. */
function fillLines(members: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const member of members) {
    const longer = `${lines.at(-1)}, ${member}`;
    if (lines.length > 0 && !longer.includes('\n') && longer.length < width) lines[lines.length - 1] = longer;
    else lines.push(member);
  }
  return lines;
}
