import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeJobId, encodeJobId } from './job-id.ts';

test('any id survives the encoding, which has nothing that BullMQ refuses', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('%', ':', '2', '5', '3', 'A', '=', '1', 'x') }), (id) => {
      const encoded = encodeJobId(id);
      expect(encoded).not.toContain(':');
      expect(encoded).not.toBe(String(Number.parseInt(encoded, 10)));
      expect(decodeJobId(encoded)).toBe(id);
    }),
  );
});
