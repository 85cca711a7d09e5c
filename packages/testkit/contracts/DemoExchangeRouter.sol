// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface IToken {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface IPair {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function getReserves() external view returns (uint112, uint112, uint32);
    function mint(address to) external returns (uint256);
    function burn(address to) external returns (uint256, uint256);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

interface IPool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function mint(address recipient, int24 lower, int24 upper, uint128 amount, bytes calldata data) external returns (uint256, uint256);
    function burn(int24 lower, int24 upper, uint128 amount) external returns (uint256, uint256);
    function collect(address recipient, int24 lower, int24 upper, uint128 amount0, uint128 amount1) external returns (uint128, uint128);
    function swap(address recipient, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data) external returns (int256, int256);
}

/// Trades in pools of Uniswap v2 and v3 with tokens of its caller, who must have approved it. Liquidity of v3 pools is its own: devnets only.
contract DemoExchangeRouter {
    uint160 private constant MIN_PRICE = 4295128740;
    uint160 private constant MAX_PRICE = 1461446703485210103287273052203988822378723970341;

    function addToPair(IPair pair, uint256 amount0, uint256 amount1) external {
        _pay(pair.token0(), msg.sender, address(pair), amount0);
        _pay(pair.token1(), msg.sender, address(pair), amount1);
        pair.mint(msg.sender);
    }

    function removeFromPair(IPair pair, uint256 liquidity) external {
        _pay(address(pair), msg.sender, address(pair), liquidity);
        pair.burn(msg.sender);
    }

    /// Sells an amount for as much as the pair gives after its fee of 0.3 %.
    function swapInPair(IPair pair, bool zeroForOne, uint256 amountIn) external {
        (uint256 reserveIn, uint256 reserveOut, ) = pair.getReserves();
        if (!zeroForOne) (reserveIn, reserveOut) = (reserveOut, reserveIn);
        uint256 amountOut = (amountIn * 997 * reserveOut) / (reserveIn * 1000 + amountIn * 997);
        _pay(zeroForOne ? pair.token0() : pair.token1(), msg.sender, address(pair), amountIn);
        pair.swap(zeroForOne ? 0 : amountOut, zeroForOne ? amountOut : 0, msg.sender, "");
    }

    function addToPool(IPool pool, int24 lower, int24 upper, uint128 liquidity) external {
        pool.mint(address(this), lower, upper, liquidity, abi.encode(msg.sender));
    }

    function removeFromPool(IPool pool, int24 lower, int24 upper, uint128 liquidity) external {
        pool.burn(lower, upper, liquidity);
        pool.collect(msg.sender, lower, upper, type(uint128).max, type(uint128).max);
    }

    function swapInPool(IPool pool, bool zeroForOne, uint256 amountIn) external {
        pool.swap(msg.sender, zeroForOne, int256(amountIn), zeroForOne ? MIN_PRICE : MAX_PRICE, abi.encode(msg.sender));
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata data) external {
        address payer = abi.decode(data, (address));
        _pay(IPool(msg.sender).token0(), payer, msg.sender, amount0);
        _pay(IPool(msg.sender).token1(), payer, msg.sender, amount1);
    }

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata data) external {
        address payer = abi.decode(data, (address));
        if (amount0 > 0) _pay(IPool(msg.sender).token0(), payer, msg.sender, uint256(amount0));
        if (amount1 > 0) _pay(IPool(msg.sender).token1(), payer, msg.sender, uint256(amount1));
    }

    function _pay(address token, address from, address to, uint256 value) private {
        if (value > 0) require(IToken(token).transferFrom(from, to, value), "payment failed");
    }
}
