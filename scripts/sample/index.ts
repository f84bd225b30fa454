export { type Cells, type Report, writeReportPdf } from "./report-pdf.ts";
export { type ReportPdfOptions, writeReportPdfs } from "./write-report-pdfs.ts";
export { type SampleOptions, type SampleSummary, writeSample } from "./write-sample.ts";
