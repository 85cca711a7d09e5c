import { redactUrl } from '@chainstead/core';
import { redactConnectionString } from '@chainstead/db/server';
import type { KeyFacts } from './key-facts.ts';

const REDACTED = '[redacted]';

export function redactValue(value: string, facts: KeyFacts): string {
  if (facts.isSecret === true) return REDACTED;
  if (facts.isUrl !== true) return value;
  if (/^postgres(?:ql)?:/.test(value.trim())) return redactConnectionString(value);
  return value
    .split(',')
    .map((entry) => (entry.includes('://') ? redactUrl(entry.trim()) : '[not a URL]'))
    .join(',');
}
