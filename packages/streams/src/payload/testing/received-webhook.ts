import { type OfficialSdk, startOfficialSdk } from '@chainstead/testkit';
import { expect } from 'vitest';
import { signBody } from '../signature.ts';

const SECRET = 'streams secret of the account';
let starting: Promise<OfficialSdk> | null = null;

/** What a receiver with the official SDK makes of a body: it must verify and parse, and stay the same text. */
export async function receiveWebhook(body: string): Promise<ReturnType<typeof JSON.parse>> {
  starting ??= startOfficialSdk({ apiKey: 'key', streamsSecret: SECRET });
  const { Moralis, parseWebhook } = await starting;
  const parsed = JSON.parse(body);
  expect(JSON.stringify(parsed)).toBe(body);
  expect(Moralis.Streams.verifySignature({ body: parsed, signature: signBody(body, SECRET) })).toBe(true);
  const result = parseWebhook(parsed);
  expect(result.logs).toHaveLength(parsed.logs.length);
  result.toJSON();
  return parsed;
}
