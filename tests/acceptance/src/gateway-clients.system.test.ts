/** Automatic requests of clients: viem with batching and ethers, against a real node through the gateway. */
import { compileDemoContracts, DEMO_TOKEN_ABI, type Devnet, startDevnet } from '@chainstead/testkit';
import { Contract, ContractFactory, JsonRpcProvider, Wallet } from 'ethers';
import {
  BlockNotFoundError,
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  TransactionReceiptNotFoundError,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { beforeAll, describe, expect, it } from 'vitest';
import { type GatewayStage, startGateway } from './gateway-stage.ts';

const CHAIN_ID = 31_341;
/** The first accounts of every anvil. */
const VIEM_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const ETHERS_KEY = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';
const NOBODY = `0x${'ab'.repeat(20)}` as const;
const NO_HASH = `0x${'cd'.repeat(32)}` as const;

let devnet: Devnet;
let gateway: GatewayStage;

beforeAll(async () => {
  devnet = await startDevnet({ chainId: CHAIN_ID });
  await devnet.mine(3);
  gateway = await startGateway({ chainId: CHAIN_ID, upstreams: [devnet.url] });
  return async () => {
    await gateway.close();
    await devnet.stop();
  };
}, 60_000);

describe('viem, with batching', () => {
  it('deploys a contract, reads it, sends to it and finds its events', async () => {
    const chain = defineChain({
      id: CHAIN_ID,
      name: 'devnet',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [gateway.url] } },
    });
    const transport = http(gateway.url, { batch: { batchSize: 20 } });
    const reader = createPublicClient({ chain, transport, pollingInterval: 50 });
    const account = privateKeyToAccount(VIEM_KEY);
    const writer = createWalletClient({ chain, transport, account });
    const { DemoToken } = await compileDemoContracts();
    const deployment = await writer.deployContract({ ...DemoToken, args: ['Gateway', 'GTW', 6] });
    const { contractAddress, blockNumber } = await reader.waitForTransactionReceipt({ hash: deployment });
    if (contractAddress == null) throw new Error('The contract was not deployed');
    const token = { address: contractAddress, abi: DEMO_TOKEN_ABI } as const;
    const hash = await writer.writeContract({ ...token, functionName: 'mint', args: [NOBODY, 5_000n] });
    const receipt = await reader.waitForTransactionReceipt({ hash });

    const [name, decimals, balance, before] = await Promise.all([
      reader.readContract({ ...token, functionName: 'name' }),
      reader.readContract({ ...token, functionName: 'decimals' }),
      reader.readContract({ ...token, functionName: 'balanceOf', args: [NOBODY] }),
      reader.readContract({ ...token, functionName: 'balanceOf', args: [NOBODY], blockNumber }),
    ]);
    expect([name, decimals, balance, before]).toEqual(['Gateway', 6, 5_000n, 0n]);
    const events = await reader.getContractEvents({ ...token, eventName: 'Transfer', fromBlock: 0n });
    expect(
      events.map(({ args, transactionHash }) => [args.to?.toLowerCase(), args.value, transactionHash]),
    ).toEqual([[NOBODY, 5_000n, hash]]);

    const [byNumber, byHash, transaction, code, chainId, nonce, count] = await Promise.all([
      reader.getBlock({ blockNumber: receipt.blockNumber, includeTransactions: true }),
      reader.getBlock({ blockHash: receipt.blockHash }),
      reader.getTransaction({ hash }),
      reader.getCode({ address: contractAddress }),
      reader.getChainId(),
      reader.getTransactionCount({ address: account.address }),
      reader.getBlockTransactionCount({ blockNumber: receipt.blockNumber }),
    ]);
    expect(byNumber.transactions[0]?.hash).toBe(hash);
    expect(byHash.transactions).toEqual([hash]);
    expect(transaction.to?.toLowerCase()).toBe(contractAddress.toLowerCase());
    expect(code).toBe(await devnet.client.getCode({ address: contractAddress }));
    expect([chainId, nonce, count]).toEqual([CHAIN_ID, 2, 1]);
    expect(await reader.getTransaction({ blockNumber: receipt.blockNumber, index: 0 })).toEqual(transaction);
  });

  it('gets its own errors for what does not exist and for what reverts', async () => {
    const reader = createPublicClient({ transport: http(gateway.url, { batch: true }) });
    await expect(reader.getTransactionReceipt({ hash: NO_HASH })).rejects.toThrow(
      TransactionReceiptNotFoundError,
    );
    await expect(reader.getBlock({ blockHash: NO_HASH })).rejects.toThrow(BlockNotFoundError);
    await expect(reader.getBlock({ blockNumber: 1_000_000n })).rejects.toThrow(BlockNotFoundError);
    await expect(
      reader.readContract({ address: NOBODY, abi: DEMO_TOKEN_ABI, functionName: 'name' }),
    ).rejects.toThrow('returned no data');
  });
});

describe('ethers', () => {
  it('deploys a contract, reads it and sends to it', async () => {
    const provider = new JsonRpcProvider(gateway.url, CHAIN_ID, {
      staticNetwork: true,
      pollingInterval: 50,
      // It would send the second transaction with the first one's nonce.
      cacheTimeout: -1,
    });
    try {
      const wallet = new Wallet(ETHERS_KEY, provider);
      const { DemoToken } = await compileDemoContracts();
      const factory = new ContractFactory(DemoToken.abi as never, DemoToken.bytecode, wallet);
      const deployed = await factory.deploy('Ethers', 'ETR', 8);
      await deployed.waitForDeployment();
      const token = new Contract(await deployed.getAddress(), DemoToken.abi as never, wallet);
      const sent = await token.getFunction('mint').send(NOBODY, 77n);
      const receipt = await sent.wait();
      expect(receipt?.status).toBe(1);
      expect(await token.getFunction('symbol').staticCall()).toBe('ETR');
      expect(await token.getFunction('balanceOf').staticCall(NOBODY)).toBe(77n);
      expect(await provider.getBlockNumber()).toBe(Number(await devnet.client.getBlockNumber({ cacheTime: 0 })));
      expect((await provider.getBlock('latest', true))?.prefetchedTransactions[0]?.hash).toBe(sent.hash);
      expect((await provider.getLogs({ address: await deployed.getAddress(), fromBlock: 0 })).length).toBe(1);
      expect(await provider.getTransactionReceipt(NO_HASH)).toBeNull();
      await expect(token.getFunction('transfer').staticCall(NOBODY, 10n ** 30n)).rejects.toThrow(/revert/);
    } finally {
      provider.destroy();
    }
  });
});
