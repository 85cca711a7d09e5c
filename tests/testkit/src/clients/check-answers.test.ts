import { describe, expect, it } from 'vitest';
import { type AnsweringApp, checkAnswers } from './check-answers.ts';

/** Takes what has a text as `name`, and nothing else of it. */
const NAMED = {
  safeParse: (value: unknown) =>
    typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string'
      ? { success: true, data: { name: value.name } }
      : { success: false, error: new Error('name is no text') },
};

function answering(answer: unknown, status = 200): AnsweringApp {
  const responses = { 200: { content: { 'application/json': { schema: NAMED } } } };
  return checkAnswers({
    openAPIRegistry: {
      definitions: [{ type: 'route', route: { method: 'get', path: '/things/{id}', responses } }],
    },
    request: () => Response.json(answer, { status }),
  });
}

describe('an app whose answers are checked', () => {
  it('gives an answer that fits its schema', async () => {
    const answer = await answering({ name: 'one' }).request('/things/1?limit=2');
    expect(await answer.json()).toEqual({ name: 'one' });
  });

  it('throws for one that does not fit, or has more than the schema', async () => {
    await expect(answering({ name: 1 }).request('/things/1')).rejects.toThrow('does not fit its schema');
    await expect(answering({ name: 'one', more: 1 }).request('/things/1')).rejects.toThrow(
      'has more than its schema',
    );
  });

  it('leaves alone what failed or is not documented', async () => {
    expect((await answering({ message: 'no' }, 400).request('/things/1')).status).toBe(400);
    expect((await answering({ other: 1 }).request('/elsewhere')).status).toBe(200);
    expect((await answering({ other: 1 }).request('/things/1', { method: 'POST' })).status).toBe(200);
  });
});
