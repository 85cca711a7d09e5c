import { processorMs } from '@chainstead/testkit';
import fc from 'fast-check';
import { html } from 'hono/html';
import { describe, expect, test } from 'vitest';
import { cut, nameParts, shown } from './html.ts';

test('a line breaks between the words of a name', () => {
  const names = ['erc20_transfer_sides', 'stream.addresses', 'Sync(uint112,uint112)', '<a_b>'].map((name) =>
    String(nameParts(name)),
  );
  expect(names).toEqual([
    '<bdi class="parts">erc20_<wbr>transfer_<wbr>sides</bdi>',
    '<bdi class="parts">stream.<wbr>addresses</bdi>',
    '<bdi class="parts">Sync(<wbr>uint112,<wbr>uint112)</bdi>',
    '<bdi class="parts">&lt;a_<wbr>b&gt;</bdi>',
  ]);
});

describe('a text of strangers', () => {
  test.each([
    ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
    ['" onload="alert(1)', '&quot; onload=&quot;alert(1)'],
    ["it's & more", 'it&#39;s &amp; more'],
    ['invoice\u202egnp.exe', 'invoice\ufffdgnp.exe'],
    ['a\u0000b\u0007c\r\nd', 'a\ufffdb\ufffdc d'],
    ['\u2066x\u2069\u200f', '\ufffdx\ufffd\ufffd'],
    ['مرحبا', 'مرحبا'],
  ])('%j is shown as text, isolated from what stands around it', (given, text) => {
    expect(String(shown(given))).toBe(`<bdi>${text}</bdi>`);
  });

  test('of a megabyte is cut, and quickly', () => {
    const started = process.cpuUsage();
    const text = String(shown('😀<b>'.repeat(250_000)));
    expect(text.length).toBeLessThan(1_000);
    expect(text).toContain('…');
    expect(processorMs(started)).toBeLessThan(500);
  });

  test('never becomes markup, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (given) => {
        const text = String(html`<p title="${cut(given)}">${shown(given)}</p>`);
        expect(text.replaceAll(/<p title="[^"<>]*"><bdi>[^<>"']*<\/bdi><\/p>/gsu, '')).toBe('');
        expect(text.isWellFormed()).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
