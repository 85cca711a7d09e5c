import { redactUrl } from '@chainstead/core';
import { redactConnectionString } from '@chainstead/db';
import type { KeyFacts } from './key-facts.ts';

const REDACTED = '[redacted]';

/** The value as it may be shown: secrets not at all, URLs with protocol and host only, databases with their name. */
export function redactValue(value: string, facts: KeyFacts): string {
  if (facts.isSecret === true) return REDACTED;
  if (facts.isUrl !== true) return value;
  if (/^postgres(?:ql)?:/.test(value.trim())) return redactConnectionString(value);
  return value
    .split(',')
    .map((entry) => (entry.includes('://') ? redactUrl(entry.trim()) : '[not a URL]'))
    .join(',');
}
