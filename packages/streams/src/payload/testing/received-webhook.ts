import { createRequire } from 'node:module';
import { expect } from 'vitest';
import { signBody } from '../signature.ts';

type Moralis = typeof import('moralis')['default'];
interface StreamsUtils {
  readonly EvmStreamResult: { create(body: unknown): { readonly logs: readonly unknown[]; toJSON(): unknown } };
}

// The SDK's ES modules do not load under plain Node; its documentation requires it too.
const requireSdk = createRequire(import.meta.url);
const { default: Moralis }: { default: Moralis } = requireSdk('moralis');
const { EvmStreamResult }: StreamsUtils = createRequire(requireSdk.resolve('moralis'))(
  '@moralisweb3/common-streams-utils',
);

const SECRET = 'streams secret of the account';
let started: Promise<void> | null = null;

/** What a receiver with the official SDK makes of a body: it must verify and parse, and stay the same text. */
export async function receiveWebhook(body: string): Promise<ReturnType<typeof JSON.parse>> {
  started ??= Moralis.start({ apiKey: 'key', streamsSecret: SECRET });
  await started;
  const parsed = JSON.parse(body);
  expect(JSON.stringify(parsed)).toBe(body);
  expect(Moralis.Streams.verifySignature({ body: parsed, signature: signBody(body, SECRET) })).toBe(true);
  const result = EvmStreamResult.create(parsed);
  expect(result.logs).toHaveLength(parsed.logs.length);
  result.toJSON();
  return parsed;
}
