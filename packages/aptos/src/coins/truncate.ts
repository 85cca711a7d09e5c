/** An emoji at the cut stays whole or is dropped. Does not read the rest of the text. */
export function truncate(text: string, codePointsMax: number): string {
  if (text.length <= codePointsMax) return text;
  let end = 0;
  for (let count = 0; count < codePointsMax && end < text.length; count += 1)
    end += (text.codePointAt(end) ?? 0) > LAST_OF_ONE_UNIT ? 2 : 1;
  return text.slice(0, end);
}

/** Code points above take two UTF-16 units. */
const LAST_OF_ONE_UNIT = 0xffff;
