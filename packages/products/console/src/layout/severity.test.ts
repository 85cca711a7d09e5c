import { expect, test } from 'vitest';
import { attemptView, nodeStateView } from './numbers.ts';

test.each([
  ['healthy', null, '<span class="v-ok"><bdi>healthy</bdi></span>'],
  ['degraded', 'slow', '<span class="v-warning"><bdi>degraded</bdi></span>: <bdi>slow</bdi>'],
  ['open-circuit', null, '<span class="v-bad"><bdi>open-circuit</bdi></span>'],
])('a node that is %s has the color and the word', (state, reason, view) => {
  expect(String(nodeStateView(state, reason, 100))).toBe(view);
});

test('an attempt has the color and the word', () => {
  expect([true, false].map((success) => String(attemptView(success)))).toEqual([
    '<span class="v-ok">delivered</span>',
    '<span class="v-bad">failed</span>',
  ]);
});
