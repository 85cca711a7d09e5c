import { type ApiContext, InvalidParameterError, refuseInvalid } from '@chainstead/http';
import type { z } from '@hono/zod-openapi';

/** Items of a body's list at most. */
export const BODY_LIST_MAX = 25;

/**
 * A route's hook that refuses bodies with the hosted provider's texts: those of all rules that a body breaks, joined by commas.
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
