import { expect, test } from 'vitest';
import { countRequested } from './chain-upstreams.ts';

const OPEN = { url: 'https://a.example' };
const SOCKET = { url: 'wss://a.example' };
const RELAY = { url: 'https://relay.example', isPrivate: true };

test.each([
  [[OPEN, SOCKET], 1],
  [[OPEN, RELAY], 1],
  [[OPEN, OPEN, RELAY], 2],
  [[RELAY, RELAY, SOCKET], 2],
])('of %j, %i are asked', (upstreams, count) => {
  expect(countRequested(upstreams)).toBe(count);
});
