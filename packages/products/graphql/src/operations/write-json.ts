import { resultTooLarge } from '../refusal.ts';

export type JsonBytes = Uint8Array<ArrayBuffer>;

const CHUNK_CHARACTERS = 65_536;

/** Like JSON.stringify, but bytes as `0x` and digits. Throws soon after `bytesMax`. */
export function jsonBytes(value: unknown, bytesMax: number): JsonBytes {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let text = '';

  function take(more: number): void {
    if (bytes + text.length + more > bytesMax) throw resultTooLarge(bytesMax);
  }

  function flush(): void {
    const chunk = Buffer.from(text, 'utf8');
    chunks.push(chunk);
    bytes += chunk.length;
    text = '';
    take(0);
  }

  function write(part: string): void {
    text += part;
    if (text.length >= CHUNK_CHARACTERS) flush();
  }

  function writeMembers(given: object): void {
    write('{');
    let separator = '';
    for (const [name, member] of Object.entries(given)) {
      if (member === undefined) continue;
      write(`${separator}${JSON.stringify(name)}:`);
      writeValue(member);
      separator = ',';
    }
    write('}');
  }

  function writeValue(given: unknown): void {
    if (typeof given === 'string') {
      take(given.length);
      write(JSON.stringify(given));
    } else if (Buffer.isBuffer(given)) {
      take(2 * given.length);
      write(`"0x${given.toString('hex')}"`);
    } else if (Array.isArray(given)) {
      write('[');
      for (const [index, item] of given.entries()) {
        if (index > 0) write(',');
        writeValue(item);
      }
      write(']');
    } else if (typeof given === 'object' && given !== null) writeMembers(given);
    else write(JSON.stringify(given) ?? 'null');
  }

  writeValue(value);
  flush();
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
