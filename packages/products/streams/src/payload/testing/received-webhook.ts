import { type OfficialSdk, startOfficialSdk } from '@chainstead/testkit';
import { expect } from 'vitest';
import { signBody } from '../signature.ts';

const SECRET = 'streams secret of the account';
let starting: Promise<OfficialSdk> | null = null;

/** Returns the body parsed by the official SDK: the signature must verify and the text must survive unchanged. */
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
