import { FileInput } from '@mantine/core'
import { Paperclip } from 'lucide-react'
import { useState } from 'react'
import { type FieldProps, useFieldProps } from './fieldProps'
import { useText } from './text'

const MOST = 32 * 1024 * 1024

/** A file goes with the arguments as a data URL; the script gets its path. */
export function FileField(props: FieldProps) {
  const t = useText()
  const common = useFieldProps(props)
  const [file, setFile] = useState<File | null>(null)
  const [fault, setFault] = useState('')
  const choose = async (next: File | null) => {
    setFile(next)
    setFault(next && next.size > MOST ? t.tooBig : '')
    if (!next || next.size > MOST) return props.onChange('')
    try {
      props.onChange(await dataUrl(next))
    } catch {
      setFault(t.unreadable)
    }
  }
  return (
    <FileInput
      {...common}
      disabled={common.readOnly}
      clearable
      placeholder={t.chooseFile}
      leftSection={<Paperclip size={14} />}
      error={fault || common.error}
      value={file}
      onChange={choose}
    />
  )
}

function dataUrl(file: File): Promise<string> {
  return new Promise((done, fail) => {
    const reader = new FileReader()
    reader.onerror = () => fail(reader.error)
    reader.onload = () => {
      const content = String(reader.result).split(',')[1] ?? ''
      const type = file.type || 'application/octet-stream'
      done(`data:${type};name=${encodeURIComponent(file.name)};base64,${content}`)
    }
    reader.readAsDataURL(file)
  })
}
