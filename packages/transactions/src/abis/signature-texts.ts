/** What no signature is longer than, with names of its arguments. Characters. */
const LENGTH_MAX = 4_096;
const TOO_LONG = `longer than ${LENGTH_MAX} characters`;

/** What stands between the cells of lists, tables and JSON alike. */
const BETWEEN_CELLS = /[;"'`\r\n\t]/;
/** What stands between the words of a cell. */
const BETWEEN_WORDS = /[,:|\s]+/;

export interface SignaturePiece {
  readonly text: string;
  /** Whether a file ends with it. */
  readonly isLast: boolean;
}

/**
 * The texts that look like signatures, of a list that comes in pieces: files of the list 4bytes (semicolons between signatures), a line each, a table's column, JSON.
 * No more than one of them is held.
 * @param skip is told of what is too long to be one
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

/** What begins with a name and ends with the bracket that belongs to the first one. Words without brackets are headers, numbers, what JSON needs. */
function* signaturesOf(cell: string): Generator<string> {
  for (let from = 0, open = cell.indexOf('('); open !== -1; open = cell.indexOf('(', from)) {
    const end = closingBracket(cell, open);
    const name = nameBefore(cell.slice(from, open));
    // What a function gives stands in brackets, too.
    if (name !== 'returns') yield `${name}${cell.slice(open, end)}`;
    from = end;
  }
}

function nameBefore(words: string): string {
  const [name = '', kind = ''] = words.trimEnd().split(BETWEEN_WORDS).toReversed();
  return kind === 'event' ? `event ${name}` : name;
}

/** Behind the bracket that closes the one at `open`; the text's end where none does. */
function closingBracket(text: string, open: number): number {
  for (let at = open, depth = 0; at < text.length; at++) {
    if (text[at] === '(') depth += 1;
    else if (text[at] === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}
