import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, clientOf, exampleServices, exampleStreamApi, MINIMAL } from './example-stream-api.ts';

/** Members added to the minimal stream, and the refused member: its key, the message and the shown value. */
export type Refusal = readonly [title: string, given: object, key: string, message: string, value?: unknown];

/** Tests that create and update refuse each of these with exactly its body, without side effects. */
export function testRefusals(refusals: readonly Refusal[]): void {
  const services = exampleServices();
  let scratch: ScratchDatabase;
  let ask: Client;
  let id: string;

  beforeAll(async () => {
    scratch = await createScratchDatabase();
    ask = clientOf(await exampleStreamApi(scratch.database, services));
    const created = await ask<{ id: string }>('PUT', '/streams/evm', MINIMAL);
    ({ id } = created.body);
  });
  afterAll(() => scratch.drop());

  const bodyOf = ([, , key, message, value]: Refusal) => ({
    message: 'Validation Failed',
    details: { [`requestBody.${key}`]: { message, ...(value !== undefined && { value }) } },
  });

  describe('a stream is refused for', () => {
    test.each(refusals.map((refusal) => [refusal[0], refusal] as const))('%s', async (_title, refusal) => {
      const answer = await ask('PUT', '/streams/evm', { ...MINIMAL, ...refusal[1] });
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual(bodyOf(refusal));
    });
  });

  describe('an update is refused for', () => {
    // An update leaves missing members unchanged.
    const given = refusals.filter(([title]) => !title.startsWith('no '));
    test.each(given.map((refusal) => [refusal[0], refusal] as const))('%s', async (_title, refusal) => {
      const answer = await ask('POST', `/streams/evm/${id}`, refusal[1]);
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual(bodyOf(refusal));
    });

    test('and nothing was tested or changed', async () => {
      expect(services.tested).toEqual([MINIMAL.webhookUrl]);
      expect((await ask('GET', `/streams/evm/${id}`)).body).toMatchObject({
        ...MINIMAL,
        abi: null,
        topic0: null,
      });
    });
  });
}
