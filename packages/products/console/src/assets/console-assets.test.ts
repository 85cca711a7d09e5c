import { createLocalLimits } from '@chainstead/http/server';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import { openConsoleStage } from '../testing/console-stage.ts';
import { loadConsoleAssets } from './console-assets.ts';

/** Limit for a page's script and style together, uncompressed. Bytes. */
const BYTES_MAX = 200_000;

const stage = stageOfFile(() => openConsoleStage({ sharedLimits: createLocalLimits() }));

describe('script and style', () => {
  test('of a page together are small', async () => {
    const page = await (await stage.get('/console/sign-in')).text();
    // All assets of a page with a plot: the others don't load the plot library.
    const addresses = [...page.matchAll(/="(\/console\/assets\/[^"]+\.(?:js|css))"/g)].map(([, one = '']) => one);
    expect(addresses).toHaveLength(3);
    let bytes = 0;
    for (const address of addresses) {
      const answer = await stage.app.request(address);
      expect(answer.status, address).toBe(200);
      bytes += (await answer.arrayBuffer()).byteLength;
    }
    expect(bytes).toBeLessThan(BYTES_MAX);
  });

  test('may be kept for good: another content has another address', async () => {
    const assets = await loadConsoleAssets();
    const address = assets.address('console.css');
    const answer = await stage.app.request(address, { headers: { 'accept-encoding': 'gzip' } });
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    const again = await stage.app.request(address, {
      headers: { 'if-none-match': answer.headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
    expect((await stage.app.request(address.replace(/assets\/\w{4}/, 'assets/0000'))).status).toBe(404);
  });

  test('are files of the list alone', async () => {
    const address = (await loadConsoleAssets()).address('console.css');
    for (const name of ['..%2fconsole-assets.ts', 'package.json', 'console.css%00.js'])
      expect((await stage.app.request(address.replace('console.css', name))).status).toBeGreaterThanOrEqual(400);
  });
});
