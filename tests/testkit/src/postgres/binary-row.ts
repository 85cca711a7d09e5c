/** Fields of a row in COPY's binary format, a character a byte: the hexadecimal digits of each; null is NULL. @throws RangeError where they don't fill the row exactly */
export function fieldsOfRow(row: string): readonly (string | null)[] {
  const bytes = Buffer.from(row, 'latin1');
  const fields: (string | null)[] = [];
  let at = 2;
  for (let left = bytes.readInt16BE(0); left > 0; left--) {
    const length = bytes.readInt32BE(at);
    at += 4;
    fields.push(length < 0 ? null : bytes.toString('hex', at, at + length));
    at += Math.max(length, 0);
  }
  if (at !== bytes.length) throw new RangeError(`The fields take ${at} bytes of ${bytes.length}`);
  return fields;
}
