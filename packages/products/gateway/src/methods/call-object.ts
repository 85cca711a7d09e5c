import {
  address,
  bytes,
  type Check,
  hash,
  isNumberText,
  listOf,
  mapOf,
  membersOf,
  mustBe,
  quantity,
  word,
} from './values.ts';

const LIST_MAX = 10_000;

const accessList = listOf(
  'accessList',
  membersOf('accessList: an entry', {
    address: address('accessList: address'),
    storageKeys: listOf('accessList: storageKeys', hash('accessList: a storage key'), LIST_MAX),
  }),
  LIST_MAX,
);

const authorizationList = listOf(
  'authorizationList',
  membersOf('authorizationList: an entry', {
    chainId: quantity('authorizationList: chainId'),
    address: address('authorizationList: address'),
    nonce: quantity('authorizationList: nonce'),
    yParity: quantity('authorizationList: yParity'),
    v: quantity('authorizationList: v'),
    r: word('authorizationList: r'),
    s: word('authorizationList: s'),
  }),
  LIST_MAX,
);

const eip712Meta = membersOf('eip712Meta', {
  gasPerPubdata: quantity('eip712Meta: gasPerPubdata'),
  customSignature: octets('eip712Meta: customSignature'),
  factoryDeps: listOf('eip712Meta: factoryDeps', octets('eip712Meta: a factory dependency'), LIST_MAX),
  paymasterParams: membersOf('eip712Meta: paymasterParams', {
    paymaster: address('eip712Meta: paymaster'),
    paymasterInput: octets('eip712Meta: paymasterInput'),
  }),
});

export const callObject: Check = membersOf('transaction', {
  type: quantity('type'),
  from: address('from'),
  to: address('to'),
  gas: quantity('gas'),
  gasLimit: quantity('gasLimit'),
  gasPrice: quantity('gasPrice'),
  maxFeePerGas: quantity('maxFeePerGas'),
  maxPriorityFeePerGas: quantity('maxPriorityFeePerGas'),
  maxFeePerBlobGas: quantity('maxFeePerBlobGas'),
  value: quantity('value'),
  nonce: quantity('nonce'),
  chainId: quantity('chainId'),
  data: bytes('data'),
  input: bytes('input'),
  accessList,
  authorizationList,
  blobVersionedHashes: listOf('blobVersionedHashes', hash('blobVersionedHashes'), LIST_MAX),
  blobs: listOf('blobs', bytes('blobs'), LIST_MAX),
  commitments: listOf('commitments', bytes('commitments'), LIST_MAX),
  proofs: listOf('proofs', bytes('proofs'), LIST_MAX),
  eip712Meta,
  feeCurrency: address('feeCurrency'),
});

const slots = mapOf(
  'stateOverrides: a storage',
  word('stateOverrides: a storage key'),
  word('stateOverrides: a storage value'),
);

export const stateOverrides: Check = mapOf(
  'stateOverrides',
  address('stateOverrides: an account'),
  membersOf('stateOverrides: an account', {
    balance: word('stateOverrides: balance'),
    nonce: word('stateOverrides: nonce'),
    code: bytes('stateOverrides: code'),
    state: slots,
    stateDiff: slots,
    movePrecompileToAddress: address('stateOverrides: movePrecompileToAddress'),
  }),
);

export const blockOverrides: Check = membersOf('blockOverrides', {
  number: word('blockOverrides: number'),
  blockNumber: word('blockOverrides: blockNumber'),
  difficulty: word('blockOverrides: difficulty'),
  time: word('blockOverrides: time'),
  timestamp: word('blockOverrides: timestamp'),
  gasLimit: word('blockOverrides: gasLimit'),
  feeRecipient: address('blockOverrides: feeRecipient'),
  coinbase: address('blockOverrides: coinbase'),
  prevRandao: hash('blockOverrides: prevRandao'),
  random: hash('blockOverrides: random'),
  baseFeePerGas: word('blockOverrides: baseFeePerGas'),
  baseFee: word('blockOverrides: baseFee'),
  blobBaseFee: word('blockOverrides: blobBaseFee'),
  beaconRoot: hash('blockOverrides: beaconRoot'),
  blockHash: mapOf(
    'blockOverrides: blockHash',
    (value) => (isNumberText(value) ? null : mustBe('blockOverrides: a block of blockHash', 'a number', value)),
    hash('blockOverrides: blockHash'),
  ),
});

function octets(name: string): Check {
  const text = bytes(name);
  return (value) => {
    if (!Array.isArray(value)) return text(value);
    const isRight = value.every((octet) => Number.isInteger(octet) && octet >= 0 && octet <= 255);
    return isRight ? null : `${name} must be a list of numbers from 0 to 255, or hexadecimal text`;
  };
}
