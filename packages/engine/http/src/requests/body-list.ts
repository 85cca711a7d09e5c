import type { z } from '@hono/zod-openapi';
import type { ApiContext } from '../api-context.ts';
import { InvalidParameterError } from '../errors/api-error.ts';
import { refuseInvalid } from './error-answer.ts';

export const BODY_LIST_MAX = 25;

export function refuseBody(
  list: string,
  most = BODY_LIST_MAX,
): (result: Parameters<typeof refuseInvalid>[0], c: ApiContext) => undefined {
  return (result, c) => {
    if (result.success || result.error === undefined || result.target !== 'json') {
      refuseInvalid(result, c);
      return undefined;
    }
    const texts = new Set(result.error.issues.flatMap((issue) => textsOf(issue, list, most)));
    throw new InvalidParameterError({ parameter: list, message: [...texts].join(', ') });
  };
}

function textsOf(issue: z.core.$ZodIssue, list: string, most: number): readonly string[] {
  const rules = {
    array: `${list} must be an array`,
    most: `${list} must contain not more than ${most} elements`,
    least: `${list} must contain at least 1 elements`,
  };
  const [member = list, item] = issue.path;
  if (member !== list) return [`${String(member)} must be a boolean value`];
  if (item !== undefined) return [ITEM_TEXTS[String(issue.path.at(-1))] ?? '[C0005] Invalid address provided'];
  if (issue.code === 'too_big') return [rules.most];
  return issue.code === 'too_small' ? [rules.least] : Object.values(rules);
}

const ITEM_TEXTS: Readonly<Record<string, string>> = {
  token_id: '[C0005] Invalid TokenId provided',
  to_block: 'to_block must be a block number',
  exchange: 'exchange must be a string',
  chain: 'chain must be a known chain',
};
