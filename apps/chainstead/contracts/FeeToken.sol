// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";

/// Of each transfer a hundredth goes to a collector, by a Transfer of its own.
contract FeeToken is ERC20, ERC20Burnable {
    address private immutable _collector;

    constructor(address collector) ERC20("Fee On Transfer", "FEE") {
        _collector = collector;
    }

    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    function _update(address from, address to, uint256 value) internal override {
        uint256 fee = from == address(0) || to == address(0) ? 0 : value / 100;
        if (fee > 0) super._update(from, _collector, fee);
        super._update(from, to, value - fee);
    }
}
