// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Burnable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Burnable.sol";

/// An ordinary ERC-20 with any name, symbol and decimals. Anyone may mint; `transferMany` emits many Transfers at once.
contract DemoToken is ERC20, ERC20Burnable {
    uint8 private immutable _decimals;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) ERC20(name_, symbol_) {
        _decimals = decimals_;
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    function transferMany(address[] calldata to, uint256 value) external {
        for (uint256 i = 0; i < to.length; i++) _transfer(msg.sender, to[i], value);
    }
}
