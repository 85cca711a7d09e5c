/** Names through the real program, from a chain that is not indexed, as the official SDK reads them. */

import {
  addressOf,
  createScratchDatabase,
  startDevnet,
  startOfficialSdk,
  startProgram,
} from '@chainstead/testkit';
import { NAME_CONTRACTS } from '@chainstead/tokens/names/name-chains';
import { deployNameContract } from '@chainstead/tokens/names/testing';
import { encodeAbiParameters, getAddress, toHex } from 'viem';
import { packetToBytes } from 'viem/ens';
import { expect, it } from 'vitest';

const KEY = '0123456789abcdef0123456789abcdef';
const OWNER = getAddress(addressOf(0xd8da6bf2));

it('resolves names of a chain that is not indexed', async () => {
  const devnet = await startDevnet({ chainId: 1 });
  const scratch = await createScratchDatabase();
  const deployed = await deployNameContract(devnet, 'Resolver');
  const { abi } = deployed.code;
  const address = NAME_CONTRACTS.universalResolver;
  const bytecode = await devnet.client.getCode({ address: deployed.address });
  if (bytecode === undefined) throw new Error('The resolver has no code');
  await devnet.client.setCode({ address, bytecode });
  const set = (functionName: string, ...args: unknown[]) => devnet.send({ address, abi, functionName, args });
  await set(
    'setAnswer',
    toHex(packetToBytes('vitalik.eth')),
    encodeAbiParameters([{ type: 'address' }], [OWNER]),
  );
  await set('setName', OWNER, 'vitalik.eth');
  const program = startProgram(['start', '--roles', 'api,worker'], {
    environment: {
      DATABASE_URL: scratch.url,
      PORT: '0',
      API_KEYS: KEY,
      GATEWAY_CHAINS: 'eth',
      RPC_URLS_ETH: devnet.url,
      ON_DEMAND_WAIT_MS: '20000',
    },
  });
  try {
    const { Moralis } = await startOfficialSdk({ apiKey: KEY, address: await program.url });
    const { resolve } = Moralis.EvmApi;
    expect((await resolve.resolveENSDomain({ domain: 'Vitalik.eth' }))?.raw).toEqual({ address: OWNER });
    expect((await resolve.resolveAddress({ address: OWNER }))?.raw).toEqual({ name: 'vitalik.eth' });
    expect(await resolve.resolveENSDomain({ domain: 'nobody.eth' })).toBeNull();
  } finally {
    await program.kill();
    await scratch.drop();
    await devnet.stop();
  }
}, 90_000);
