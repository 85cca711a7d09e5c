import { TestkitError } from '../testkit-error.ts';

/** Asks a node one thing and gives its result. @throws TestkitError when the node answers an error. */
export async function requestNode(
  url: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<unknown> {
  const answer = await postJson(url, { jsonrpc: '2.0', id: 1, method, params });
  if (typeof answer === 'object' && answer !== null && 'error' in answer)
    throw new TestkitError(`${method} was answered with an error: ${JSON.stringify(answer.error)}`, {
      method,
      params,
    });
  return typeof answer === 'object' && answer !== null && 'result' in answer ? answer.result : undefined;
}

/** Posts any JSON and gives the parsed body, errors included. */
export async function postJson(url: string, body: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}
