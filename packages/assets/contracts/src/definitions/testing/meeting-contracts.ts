/** Random contracts of few words. */
import fc from 'fast-check';

const LONG = 'averyveryverylongnamewithmanyletters';
/** Few words, so that joined names often are equal. */
const part = fc.constantFrom(
  'a',
  'v2',
  'key',
  'pkey',
  'undecoded',
  'ctid',
  'from',
  'call',
  'bytes',
  'event',
  LONG,
);
const parts = fc.array(part, { minLength: 1, maxLength: 3 });
const contractName = parts.map((all) => `c_${all.join('_')}`.slice(0, 24));
const camel = parts.map((all) => all.map((one) => `${one.slice(0, 1).toUpperCase()}${one.slice(1)}`).join(''));
const snake = fc
  .tuple(fc.constantFrom('', '_'), parts, fc.constantFrom('', '_', '$'))
  .map(([start, all, end]) => {
    return `${start}${all.join('_')}${end}`;
  });
const identifier = fc.oneof(camel, snake);
const type = fc.constantFrom('address', 'uint256', 'bytes32', 'bool');
const inputs = fc.array(fc.record({ name: fc.oneof(identifier, fc.constant('')), type }), {
  minLength: 1,
  maxLength: 4,
});
const item = fc.record({ type: fc.constant('event'), name: identifier, inputs });
/** A contract whose names and those of another one often meet. */
export const meetingContract = fc.record({
  name: contractName,
  abi: fc.array(item, { minLength: 1, maxLength: 3 }),
});
