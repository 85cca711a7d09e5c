import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Address } from '@chainstead/core';
import { type Abi, isHex, maxUint256 } from 'viem';
import { DemoError } from '../demo-error.ts';
import type { CompiledContract } from '../devnet/compile-solidity.ts';
import { compileContracts } from '../devnet/compile-solidity.ts';
import { requireDemoTool } from '../devnet/demo-tools.ts';
import type { Devnet, DevnetCall } from '../devnet/devnet.ts';

export interface DeployedContract {
  readonly address: Address;
  readonly abi: Abi;
}

export interface Market {
  readonly seaport: DeployedContract;
  readonly cats: DeployedContract;
  readonly prints: DeployedContract;
  /** ERC-721, by one ConsecutiveTransfer (ERC-2309) to the first trader. */
  readonly founders: DeployedContract;
  readonly wrappedEther: DeployedContract;
  readonly etherFeed: DeployedContract;
  readonly router: DeployedContract;
  readonly traders: readonly Address[];
  readonly feeRecipient: Address;
}

export const FOUNDERS = 25;
const TRADERS = 5;
const WRAPPED_WEI = 10n ** 20n;

export async function deployMarket(devnet: Devnet): Promise<Market> {
  const [artefacts, contract] = await Promise.all([
    readSeaportArtefacts(),
    compileContracts([
      'GalleryCats',
      'GalleryPrints',
      'GalleryFounders',
      'WrappedEther',
      'DemoEtherFeed',
      'DemoRouter',
    ]),
  ]);
  const traders = devnet.accounts.slice(0, TRADERS);
  const [feeRecipient = traders[0]] = devnet.accounts.slice(-1);
  if (feeRecipient === undefined) throw new RangeError('The devnet has no accounts');
  const deploy = async (name: Parameters<typeof contract>[0], ...args: unknown[]): Promise<DeployedContract> => {
    const compiled = contract(name);
    return { address: await devnet.deploy(compiled, args), abi: compiled.abi };
  };
  const conduitController = await devnet.deploy(artefacts.conduitController);
  const seaport = {
    address: await devnet.deploy(artefacts.seaport, [conduitController]),
    abi: artefacts.seaport.abi,
  };
  const market: Market = {
    seaport,
    cats: await deploy('GalleryCats'),
    prints: await deploy('GalleryPrints'),
    founders: await deploy('GalleryFounders', traders[0], BigInt(FOUNDERS)),
    wrappedEther: await deploy('WrappedEther'),
    etherFeed: await deploy('DemoEtherFeed'),
    router: await deploy('DemoRouter'),
    traders,
    feeRecipient,
  };
  for (const trader of traders) for (const call of readyToTrade(market, trader)) await devnet.send(call);
  return market;
}

/** For Seaport itself: the orders name no conduit. */
function readyToTrade({ seaport, cats, prints, founders, wrappedEther }: Market, from: Address): DevnetCall[] {
  const approval = { functionName: 'setApprovalForAll', args: [seaport.address, true], from };
  return [
    ...[cats, prints, founders].map((nft) => ({ ...nft, ...approval })),
    { ...wrappedEther, functionName: 'deposit', value: WRAPPED_WEI, from },
    { ...wrappedEther, functionName: 'approve', args: [seaport.address, maxUint256], from },
  ];
}

const PACKAGE = '@opensea/seaport-js';
const FOLDER = 'src/artifacts/seaport/contracts';

async function readSeaportArtefacts() {
  const root = dirname(requireDemoTool().resolve(`${PACKAGE}/package.json`));
  const [conduitController, seaport] = await Promise.all([
    readArtefact(join(root, FOLDER, 'conduit/ConduitController.sol/LocalConduitController.json')),
    readArtefact(join(root, FOLDER, 'Seaport.sol/Seaport.json')),
  ]);
  return { conduitController, seaport };
}

async function readArtefact(file: string): Promise<CompiledContract> {
  const { contractName, abi, bytecode }: { contractName: string; abi: Abi; bytecode: string } = JSON.parse(
    await readFile(file, 'utf8'),
  );
  if (!Array.isArray(abi) || !isHex(bytecode)) throw new DemoError(`${file} is not a contract's artefact`);
  return { name: contractName, abi, bytecode };
}
