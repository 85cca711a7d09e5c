import type { Egress, EgressResponse } from '@chainstead/egress';
import { describe, expect, test } from 'vitest';
import { createGatewayRequest } from './ens-names.ts';

const SENDER = `0x${'c0'.repeat(20)}`;

/** An HTTP client that only notes where it was led. */
function recording(): { readonly egress: Egress; readonly urls: string[] } {
  const urls: string[] = [];
  const answer: EgressResponse = { status: 500, headers: {}, body: Buffer.alloc(0), truncated: false, url: '' };
  const request: Egress['request'] = async ({ url }) => {
    urls.push(String(url));
    return answer;
  };
  return { egress: { request, close: async () => undefined }, urls };
}

describe('URLs of gateways', () => {
  test('are as long as they become: what would grow large is never made', async () => {
    const { egress, urls } = recording();
    const ask = createGatewayRequest(egress, new AbortController().signal);
    const data = `0x${'ab'.repeat(60_000)}` as const;
    const templates = [
      'http://a/{data}',
      `http://b/${'{sender}'.repeat(2_000)}`,
      `http://c/${'x'.repeat(20_000)}`,
      'http://d/',
    ];
    await expect(ask({ sender: SENDER, urls: templates, data })).rejects.toThrow('No gateway');
    expect(urls).toEqual(['http://d/']);
  });

  test('are so many for one question, also of those that are not asked', async () => {
    const { egress, urls } = recording();
    const ask = createGatewayRequest(egress, new AbortController().signal);
    const long = Array.from({ length: 6 }, () => `http://long/${'x'.repeat(20_000)}`);
    const short = Array.from({ length: 4_000 }, (_, index) => `http://short/${index}`);
    await expect(ask({ sender: SENDER, urls: [...long, ...short], data: '0x' })).rejects.toThrow('No gateway');
    await expect(ask({ sender: SENDER, urls: short, data: '0x' })).rejects.toThrow('No gateway');
    expect(urls).toEqual(['http://short/0', 'http://short/1']);
  });
});
