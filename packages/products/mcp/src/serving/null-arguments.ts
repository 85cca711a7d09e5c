import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';

/** Some clients send `arguments: null` for a tool without arguments. */
export function withoutNullArguments(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('params' in message)) return message;
  const { params } = message;
  if (typeof params !== 'object' || params === null || !('arguments' in params) || params.arguments !== null)
    return message;
  const { arguments: _none, ...others } = params;
  return { ...message, params: others };
}

export function linesWithoutNullArguments(input: Readable): Readable {
  async function* lines(): AsyncGenerator<Buffer> {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
      yield Buffer.from(`${/"arguments"\s*:\s*null/.test(line) ? repaired(line) : line}\n`);
  }
  return Readable.from(lines());
}

/** The protocol refuses a line that is no JSON. */
function repaired(line: string): string {
  try {
    return JSON.stringify(withoutNullArguments(JSON.parse(line)));
  } catch {
    return line;
  }
}
