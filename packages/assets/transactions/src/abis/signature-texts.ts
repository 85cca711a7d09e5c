const LENGTH_MAX = 4_096;
const TOO_LONG = `longer than ${LENGTH_MAX} characters`;
const BETWEEN_CELLS = /[;"'`\r\n\t]/;
const BETWEEN_WORDS = /[,:|\s]+/;

export interface SignaturePiece {
  readonly text: string;
  readonly isLast: boolean;
}

/** 4bytes list, one per line, a table's column, or JSON. Holds at most one text. */
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

/** From a name to the matching bracket. Words without brackets are not signatures. */
function* signaturesOf(cell: string): Generator<string> {
  for (let from = 0, open = cell.indexOf('('); open !== -1; open = cell.indexOf('(', from)) {
    const end = closingBracket(cell, open);
    const [word = '', kind = ''] = cell.slice(from, open).trimEnd().split(BETWEEN_WORDS).toReversed();
    const name = kind === 'event' ? `event ${word}` : word;
    if (name !== 'returns') yield `${name}${cell.slice(open, end)}`;
    from = end;
  }
}

function closingBracket(text: string, open: number): number {
  for (let at = open, depth = 0; at < text.length; at++) {
    if (text[at] === '(') depth += 1;
    else if (text[at] === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}
