// Packs the built files once, so that the server never does: `node pack.mjs FOLDER`.
// The plain text of what is packed is left out; the server unpacks it at its start.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const TEXT = new Set(['.css', '.js', '.json', '.svg', '.txt', '.webmanifest'])
// Below this a packet is not fuller for it.
const SMALL = 1024

const [folder] = process.argv.slice(2)
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name)
  if (!entry.isFile() || !TEXT.has(extname(path))) continue
  // The build's own notes are not served.
  if (relative(folder, path).startsWith('.')) continue
  const data = readFileSync(path)
  if (data.length < SMALL) continue
  const size = { [constants.BROTLI_PARAM_SIZE_HINT]: data.length }
  writeFileSync(`${path}.br`, brotliCompressSync(data, { params: size }))
  writeFileSync(`${path}.gz`, gzipSync(data, { level: 9 }))
  rmSync(path)
}
