namespace relascope { void appAnchor() {} }
