namespace relascope { void cliAnchor() {} }
