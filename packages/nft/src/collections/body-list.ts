import { type ApiContext, InvalidParameterError, refuseInvalid } from '@chainstead/http';
import type { z } from '@hono/zod-openapi';

/** Maximum number of items in a request body's list. */
export const BODY_LIST_MAX = 25;

/**
 * Returns a route hook that rejects invalid bodies with the hosted API's messages, joined by commas if several rules
 * fail.
 * @param list the member that is the list
 */
export function refuseBody(list: string): (result: Parameters<typeof refuseInvalid>[0], c: ApiContext) => undefined {
  return (result, c) => {
    if (result.success || result.error === undefined || result.target !== 'json') {
      refuseInvalid(result, c);
      return undefined;
    }
    const texts = new Set(result.error.issues.flatMap((issue) => textsOf(issue, list)));
    throw new InvalidParameterError({ parameter: list, message: [...texts].join(', ') });
  };
}

function textsOf(issue: z.core.$ZodIssue, list: string): readonly string[] {
  const rules = {
    array: `${list} must be an array`,
    most: `${list} must contain not more than ${BODY_LIST_MAX} elements`,
    least: `${list} must contain at least 1 elements`,
  };
  const [member = list, item] = issue.path;
  if (member !== list) return [`${String(member)} must be a boolean value`];
  if (item !== undefined)
    return [`[C0005] Invalid ${issue.path.at(-1) === 'token_id' ? 'TokenId' : 'address'} provided`];
  if (issue.code === 'too_big') return [rules.most];
  return issue.code === 'too_small' ? [rules.least] : Object.values(rules);
}
