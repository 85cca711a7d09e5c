// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Emits perfect events of a Uniswap v2 pair, and names a real factory and real tokens. It moves no token.
contract FakePair {
    address public factory;
    address public token0;
    address public token1;

    event Sync(uint112 reserve0, uint112 reserve1);
    event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to);

    constructor(address factory_, address token0_, address token1_) {
        factory = factory_;
        token0 = token0_;
        token1 = token1_;
    }

    function trade(uint256 amount0In, uint256 amount1Out) external {
        emit Sync(uint112(amount0In), uint112(amount1Out));
        emit Swap(msg.sender, amount0In, 0, 0, amount1Out, msg.sender);
    }
}
