import fc from 'fast-check';
import { expect, test } from 'vitest';
import { badAnswer, goodAnswer, healthScore, UNKNOWN_HEALTH } from './health-score.ts';

const NOW = 1_000_000;

test('an upstream of which nothing is known is as good as any', () => {
  expect(healthScore(UNKNOWN_HEALTH, NOW, 0)).toBe(1);
});

test('errors, slowness and lag each lower the score', () => {
  const well = goodAnswer(UNKNOWN_HEALTH, NOW, 50);
  const base = healthScore(well, NOW, 0);
  expect(healthScore(badAnswer(well, NOW), NOW, 0)).toBeLessThan(base);
  expect(healthScore(goodAnswer(UNKNOWN_HEALTH, NOW, 800), NOW, 0)).toBeLessThan(base);
  expect(healthScore(well, NOW, 60_000)).toBeLessThan(base);
});

test('a lie weighs more than a failure', () => {
  const failed = healthScore(badAnswer(UNKNOWN_HEALTH, NOW), NOW, 0);
  expect(healthScore(badAnswer(UNKNOWN_HEALTH, NOW, 3), NOW, 0)).toBeLessThan(failed);
});

test('an upstream left alone recovers with time', () => {
  let health = UNKNOWN_HEALTH;
  for (let index = 0; index < 20; index++) health = badAnswer(health, NOW);
  expect(healthScore(health, NOW, 0)).toBeLessThan(0.1);
  expect(healthScore(health, NOW + 300_000, 0)).toBeGreaterThan(0.9);
});

test('the score stays between 0 and 1 whatever happens', () => {
  const event = fc.record({
    good: fc.boolean(),
    latency: fc.nat(60_000),
    weight: fc.nat(20),
    wait: fc.nat(100_000),
  });
  fc.assert(
    fc.property(fc.array(event), fc.nat(10_000_000), (events, lagMs) => {
      let health = UNKNOWN_HEALTH;
      let now = NOW;
      for (const { good, latency, weight, wait } of events) {
        now += wait;
        health = good ? goodAnswer(health, now, latency) : badAnswer(health, now, weight);
      }
      const score = healthScore(health, now, lagMs);
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(1);
    }),
  );
});
