// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
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
    function flash(address recipient, uint256 amount0, uint256 amount1, bytes calldata data) external;
}

interface IAlgebraPool {
    function mint(address leftovers, address recipient, int24 lower, int24 upper, uint128 amount, bytes calldata data) external returns (uint256, uint256, uint128);
    function burn(int24 lower, int24 upper, uint128 amount, bytes calldata data) external returns (uint256, uint256);
}

/// Trades in pools of Uniswap v2 and v3, PancakeSwap v3 and Algebra Integral with tokens of its caller, who must have approved it. Liquidity of
/// pools other than v2 is its own: devnets only.
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

    /// Sells an amount for as much as the pair gives after its fee of 0.3 %. A token may take a part of each transfer.
    function swapInPair(IPair pair, bool zeroForOne, uint256 amount) external {
        (uint256 reserveIn, uint256 reserveOut, ) = pair.getReserves();
        if (!zeroForOne) (reserveIn, reserveOut) = (reserveOut, reserveIn);
        address tokenIn = zeroForOne ? pair.token0() : pair.token1();
        _pay(tokenIn, msg.sender, address(pair), amount);
        uint256 amountIn = IToken(tokenIn).balanceOf(address(pair)) - reserveIn;
        uint256 amountOut = (amountIn * 997 * reserveOut) / (reserveIn * 1000 + amountIn * 997);
        pair.swap(zeroForOne ? 0 : amountOut, zeroForOne ? amountOut : 0, msg.sender, "");
    }

    /// Borrows an amount and returns it with the fee, in the same token. The token must not take a part of a transfer.
    function flashInPair(IPair pair, bool ofZero, uint256 amount) external {
        address token = ofZero ? pair.token0() : pair.token1();
        pair.swap(ofZero ? amount : 0, ofZero ? 0 : amount, address(this), abi.encode(msg.sender, token));
    }

    function uniswapV2Call(address, uint256 amount0, uint256 amount1, bytes calldata data) external {
        (address payer, address token) = abi.decode(data, (address, address));
        require(IToken(token).transfer(msg.sender, amount0 + amount1), "repayment failed");
        _pay(token, payer, msg.sender, ((amount0 + amount1) * 3) / 997 + 1);
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

    function addToAlgebraPool(IAlgebraPool pool, int24 lower, int24 upper, uint128 liquidity) external {
        pool.mint(msg.sender, address(this), lower, upper, liquidity, abi.encode(msg.sender));
    }

    function removeFromAlgebraPool(IAlgebraPool pool, int24 lower, int24 upper, uint128 liquidity) external {
        pool.burn(lower, upper, liquidity, "");
        IPool(address(pool)).collect(msg.sender, lower, upper, type(uint128).max, type(uint128).max);
    }

    /// Borrows amounts of both tokens and returns them with the fees.
    function flashInPool(IPool pool, uint256 amount0, uint256 amount1) external {
        pool.flash(address(this), amount0, amount1, abi.encode(msg.sender, amount0, amount1));
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata data) external {
        _payBoth(amount0, amount1, data);
    }

    function pancakeV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata data) external {
        _payBoth(amount0, amount1, data);
    }

    function algebraMintCallback(uint256 amount0, uint256 amount1, bytes calldata data) external {
        _payBoth(amount0, amount1, data);
    }

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata data) external {
        _payOwed(amount0, amount1, data);
    }

    function pancakeV3SwapCallback(int256 amount0, int256 amount1, bytes calldata data) external {
        _payOwed(amount0, amount1, data);
    }

    function algebraSwapCallback(int256 amount0, int256 amount1, bytes calldata data) external {
        _payOwed(amount0, amount1, data);
    }

    function uniswapV3FlashCallback(uint256 fee0, uint256 fee1, bytes calldata data) external {
        _repay(fee0, fee1, data);
    }

    function pancakeV3FlashCallback(uint256 fee0, uint256 fee1, bytes calldata data) external {
        _repay(fee0, fee1, data);
    }

    function algebraFlashCallback(uint256 fee0, uint256 fee1, bytes calldata data) external {
        _repay(fee0, fee1, data);
    }

    function _payBoth(uint256 amount0, uint256 amount1, bytes calldata data) private {
        address payer = abi.decode(data, (address));
        _pay(IPool(msg.sender).token0(), payer, msg.sender, amount0);
        _pay(IPool(msg.sender).token1(), payer, msg.sender, amount1);
    }

    function _payOwed(int256 amount0, int256 amount1, bytes calldata data) private {
        address payer = abi.decode(data, (address));
        if (amount0 > 0) _pay(IPool(msg.sender).token0(), payer, msg.sender, uint256(amount0));
        if (amount1 > 0) _pay(IPool(msg.sender).token1(), payer, msg.sender, uint256(amount1));
    }

    function _repay(uint256 fee0, uint256 fee1, bytes calldata data) private {
        (address payer, uint256 amount0, uint256 amount1) = abi.decode(data, (address, uint256, uint256));
        (address token0, address token1) = (IPool(msg.sender).token0(), IPool(msg.sender).token1());
        require(IToken(token0).transfer(msg.sender, amount0) && IToken(token1).transfer(msg.sender, amount1), "repayment failed");
        _pay(token0, payer, msg.sender, fee0);
        _pay(token1, payer, msg.sender, fee1);
    }

    function _pay(address token, address from, address to, uint256 value) private {
        if (value > 0) require(IToken(token).transferFrom(from, to, value), "payment failed");
    }
}
