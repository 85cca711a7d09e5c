/** Maximum length of a signature with argument names. Characters. */
const LENGTH_MAX = 4_096;
const TOO_LONG = `longer than ${LENGTH_MAX} characters`;

/** Separators between cells, for lists, tables and JSON alike. */
const BETWEEN_CELLS = /[;"'`\r\n\t]/;
/** Separators between the words of a cell. */
const BETWEEN_WORDS = /[,:|\s]+/;

export interface SignaturePiece {
  readonly text: string;
  /** Whether it is the last one of a file. */
  readonly isLast: boolean;
}

/**
 * Yields the texts that look like signatures from a list in chunks: files of the list 4bytes (semicolons between
 * signatures), one per line, a table's column, JSON. At most one of them is in memory.
 * @param skip called with texts that are too long for a signature
 */
export async function* signatureTexts(
  pieces: AsyncIterable<SignaturePiece>,
  skip: (reason: string) => void,
): AsyncGenerator<string> {
  let rest = '';
  let isTooLong = false;
  for await (const { text, isLast } of pieces) {
    const cells = `${rest}${text}`.split(BETWEEN_CELLS);
    rest = isLast ? '' : (cells.pop() ?? '');
    for (const cell of cells) {
      if (isTooLong) isTooLong = false;
      else if (cell.length > LENGTH_MAX) skip(TOO_LONG);
      else yield* signaturesOf(cell);
    }
    if (rest.length <= LENGTH_MAX) continue;
    if (!isTooLong) skip(TOO_LONG);
    isTooLong = true;
    rest = '';
  }
}

/**
 * Yields texts that start with a name and end with the matching closing bracket. Words without brackets are headers,
 * numbers, or JSON syntax.
 */
function* signaturesOf(cell: string): Generator<string> {
  for (let from = 0, open = cell.indexOf('('); open !== -1; open = cell.indexOf('(', from)) {
    const end = closingBracket(cell, open);
    const name = nameBefore(cell.slice(from, open));
    // A function's results are in brackets, too.
    if (name !== 'returns') yield `${name}${cell.slice(open, end)}`;
    from = end;
  }
}

function nameBefore(words: string): string {
  const [name = '', kind = ''] = words.trimEnd().split(BETWEEN_WORDS).toReversed();
  return kind === 'event' ? `event ${name}` : name;
}

/** Returns the position after the bracket that closes the one at `open`; the text's end if none does. */
function closingBracket(text: string, open: number): number {
  for (let at = open, depth = 0; at < text.length; at++) {
    if (text[at] === '(') depth += 1;
    else if (text[at] === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}
