namespace relascope { void datasetsAnchor() {} }
