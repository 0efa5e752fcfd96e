type NumberArray = new (buffer: ArrayBuffer) => ArrayLike<number>

/** Types of numbers in the compact arrays of Plotly for Python: `{"dtype": "f8", "bdata": "…"}`. */
const TYPES: Record<string, NumberArray> = {
  f8: Float64Array,
  f4: Float32Array,
  i1: Int8Array,
  i2: Int16Array,
  i4: Int32Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
}

/** The numbers of such an array; null if it is not one, or has several dimensions. */
export function bytesOf(value: Record<string, unknown>): (number | null)[] | null {
  const { dtype, bdata, shape } = value
  if (typeof dtype !== 'string' || typeof bdata !== 'string' || shape !== undefined) return null
  const type = Object.hasOwn(TYPES, dtype) ? TYPES[dtype]! : null
  if (!type) return null
  try {
    const bytes = Uint8Array.from(atob(bdata), (sign) => sign.charCodeAt(0))
    return Array.from(new type(bytes.buffer), (item) => (Number.isFinite(item) ? item : null))
  } catch {
    return null
  }
}
