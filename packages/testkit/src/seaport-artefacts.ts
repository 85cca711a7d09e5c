import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Abi, isHex } from 'viem';
import type { CompiledContract } from './compile-solidity.ts';
import { requireDemoTool } from './demo-tools.ts';
import { TestkitError } from './testkit-error.ts';

/** The real Seaport 1.6 and the conduit controller that its constructor needs, as OpenSea's package brings them. */
export interface SeaportArtefacts {
  readonly conduitController: CompiledContract;
  readonly seaport: CompiledContract;
}

const PACKAGE = '@opensea/seaport-js';
const FOLDER = 'src/artifacts/seaport/contracts';

/** Reads the creation bytecode. @throws TestkitError when the package has another shape than the one known here. */
export async function readSeaportArtefacts(): Promise<SeaportArtefacts> {
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
  if (!Array.isArray(abi) || !isHex(bytecode)) throw new TestkitError(`${file} is not a contract's artefact`);
  return { name: contractName, abi, bytecode };
}
