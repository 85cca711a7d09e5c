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
    .map((entry) => redactEntry(entry.trim()))
    .join(',');
}

/** Also `portal:https://…` and `era:/folder`, which has no secret. */
function redactEntry(entry: string): string {
  if (entry.startsWith('era:/')) return entry;
  const [, kind = '', url = entry] = /^((?:portal|hypersync):)(.*)$/.exec(entry) ?? [];
  return url.includes('://') ? `${kind}${redactUrl(url)}` : '[not a URL]';
}
