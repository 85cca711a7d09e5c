import { textParameter } from '@chainstead/http';

const TOPIC = 'a topic (0x and 64 hexadecimal digits)';

/** Parses a log topic in any letter case to lower case. */
export function topicParameter(description: string) {
  return textParameter(TOPIC, (given) => (/^0x[0-9a-f]{64}$/i.test(given) ? given.toLowerCase() : undefined))
    .optional()
    .openapi({ type: 'string', pattern: '^0x[0-9a-fA-F]{64}$', description });
}
