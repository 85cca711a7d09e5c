// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Deploys pools of PancakeSwap v3, as the deployer does that is missing in the npm package: a pool reads its parameters from it.
contract PancakePoolDeployer {
    struct Parameters {
        address factory;
        address token0;
        address token1;
        uint24 fee;
        int24 tickSpacing;
    }

    Parameters public parameters;
    bytes private poolCode;

    constructor(bytes memory poolCode_) {
        poolCode = poolCode_;
    }

    function deploy(address factory, address token0, address token1, uint24 fee, int24 tickSpacing) external returns (address pool) {
        parameters = Parameters(factory, token0, token1, fee, tickSpacing);
        bytes memory code = poolCode;
        bytes32 salt = keccak256(abi.encode(token0, token1, fee));
        assembly {
            pool := create2(0, add(code, 32), mload(code), salt)
        }
        require(pool != address(0), "deployment failed");
        delete parameters;
    }
}
